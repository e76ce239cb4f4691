//! Spanish.

use super::table::{CueKind, CueTable};

#[rustfmt::skip]
pub(super) const TABLE: CueTable = CueTable {
    spaced: true,
    telltales: &[
        "el", "la", "los", "las", "que", "para", "por", "con", "una", "del", "está", "pero", "como",
        "porque", "usa", "siempre", "nunca", "es", "en", "se", "lo", "al", "hay", "si", "sí", "más",
        "también", "puedes", "vamos", "esta", "este", "y",
    ],
    phrases: &[
        (CueKind::Rule, &[
            "debe", "deben", "debes", "tiene que", "tienen que", "hay que", "nunca", "jamás",
            "siempre", "como máximo", "como mínimo", "al menos", "obligatori*", "prohibido",
            "bajo ningún concepto", "en ningún caso", "sin excepciones", "no se puede",
            "a partir de ahora",
        ]),
        (CueKind::Limit, &[
            "solo", "sólo", "solamente", "únicamente", "exactamente", "excepto", "salvo",
            "a menos que", "la excepción", "a propósito", "deliberad*", "no más de",
        ]),
        (CueKind::Should, &[
            "debería", "deberían", "necesita", "necesitamos", "queremos", "gana", "se queda",
            "cuenta como", "vale", "no es", "por defecto", "la regla", "la política", "ya no",
        ]),
        (CueKind::Choice, &[
            "en lugar de", "en vez de", "usa", "usar", "usemos", "usamos", "prefiero",
            "preferimos", "mejor", "mantén", "mantener", "decidimos", "decidido", "acordamos",
            "acordado", "elegimos", "optamos", "evita", "evitar", "quédate con", "cambiamos a",
        ]),
        (CueKind::Reason, &[
            "porque", "ya que", "para que", "por eso", "la razón", "debido a", "si no",
            "de lo contrario", "el motivo", "incidente", "caída", "así que", "para evitar",
        ]),
        (CueKind::Measure, &[
            "medimos", "medido", "medición", "benchmark*", "en producción", "de media", "p99",
            "p95",
        ]),
        (CueKind::Amend, &[
            "a partir de ahora", "reemplaza", "sustituye", "corrección", "cambio de planes",
            "nueva regla", "enmienda",
        ]),
        (CueKind::Plan, &[
            "voy a", "vamos a ver", "déjame", "empezaré", "revisaré", "comenzaré",
        ]),
        (CueKind::Propose, &[
            "propongo", "yo usaría", "sugiero", "mi propuesta", "podríamos", "una opción",
        ]),
        (CueKind::Hedge, &[
            "quizá", "quizás", "tal vez", "probablemente", "creo que", "posiblemente", "puede que",
        ]),
        (CueKind::Filler, &[
            "gracias", "perdón", "lo siento", "hola", "perfecto", "genial", "encantado",
        ]),
        (CueKind::Cause, &[
            "la causa", "el problema era", "el problema es", "el error era", "el error es",
            "resulta que", "resultó que", "porque", "se debía a", "se debe a", "encontré",
            "descubrí", "eso explica", "esto significa", "es decir",
        ]),
        (CueKind::Done, &[
            "corregí", "corregido", "añadí", "añadido", "agregué", "agregado", "cambié",
            "cambiado", "eliminé", "eliminado", "renombré", "implementé", "implementado",
            "actualicé", "actualizado", "creé", "creado", "moví", "reemplacé", "ahora", "arreglé",
            "arreglado", "extraje",
        ]),
        (CueKind::Next, &[
            "próximos pasos", "siguiente paso", "siguientes pasos", "pendiente", "pendientes",
            "quieres que", "queda por", "por hacer",
        ]),
        (CueKind::Caveat, &[
            "ten en cuenta", "nota:", "cuidado", "advertencia", "no pude", "limitación",
            "sin probar", "ojo", "riesgo", "no está probado",
        ]),
        (CueKind::Tried, &[
            "intenté", "intentamos", "probé", "probamos", "al principio", "primero intenté",
        ]),
        (CueKind::Fruitless, &[
            "no funcionó", "sin éxito", "no sirvió", "no ayudó", "descartado", "descarté",
            "callejón sin salida", "revertí",
        ]),
        (CueKind::General, &[
            "siempre", "nunca", "a partir de ahora", "de ahora en adelante", "en general",
            "cada vez", "por defecto", "prefiero", "me gusta", "no me gusta", "por favor no",
        ]),
        (CueKind::Working, &[
            "commit*", "formate*", "linter", "test", "tests", "prueba", "pruebas", "rama*", "push",
            "comentario*", "tabulador*", "espacios", "responde*", "explica*", "pregunta*",
            "español", "inglés", "estilo", "emoji*", "pull request*", "documenta*", "pnpm", "npm",
            "yarn", "mensajes de commit", "resum*",
        ]),
        (CueKind::Personal, &[
            "prefiero", "me gusta", "quiero", "por favor", "me", "mi", "tu",
        ]),
        (CueKind::Verified, &[
            "todas las pruebas", "todos los tests", "pasan", "en verde", "sin errores",
        ]),
        (CueKind::Problem, &[
            "falla", "fallan", "error*", "roto", "mal", "bug", "se cuelga", "falta", "lento",
            "queja*", "ticket*", "actualmente", "no funciona", "duplicad*",
        ]),
        (CueKind::Topic, &[
            "además", "por cierto", "otra cosa", "aparte", "cambiando de tema", "por otro lado",
        ]),
        (CueKind::Disagree, &[
            "no", "nunca", "cuidado", "espera", "en realidad", "mal", "eso no", "incorrecto",
            "para", "pero", "mejor", "corrección", "tampoco", "ni",
        ]),
        (CueKind::Agree, &[
            "sí", "si", "exacto", "correcto", "vale", "ok", "de acuerdo", "perfecto", "bien",
            "claro", "adelante", "gracias", "eso es", "genial", "continúa", "sigue", "listo",
        ]),
        (CueKind::Ack, &[
            "entendido", "de acuerdo", "vale", "perfecto", "claro", "bien", "ok", "hecho", "listo",
            "tienes razón", "sí", "exacto", "así que",
        ]),
        (CueKind::Recap, &[
            "resumen", "en resumen", "para resumir", "acordado", "la regla", "la regla queda",
            "entonces la regla", "queda así", "decisión", "es decir", "en definitiva",
            "la política",
        ]),
        (CueKind::Request, &[
            "puedes", "podrías", "por favor", "mira", "revisa", "arregla", "añade", "agrega",
            "implementa", "escribe", "crea", "cambia", "busca", "explica", "muestra", "por qué",
            "cómo", "qué", "dónde", "cuándo", "hay alguna",
        ]),
        (CueKind::Connective, &[
            "y", "pero", "entonces", "así que", "además", "también", "o", "ahora", "sin embargo",
            "pues",
        ]),
        (CueKind::Pronoun, &[
            "eso", "esto", "ese", "esa", "ellos",
        ]),
    ],
};
